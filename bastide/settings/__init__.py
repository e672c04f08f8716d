"""The options of ``bastide serve``, and what people set of them on the page."""
