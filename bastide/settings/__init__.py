"""The options of ``bastide serve``, and the settings made on the page."""
