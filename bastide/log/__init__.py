"""The log of all games on disk: store and journal, repair of what is damaged, what a log says; pictures and looks."""
