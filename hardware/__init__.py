"""Camera drivers, the light and button on a Pi's pins, and the installation and release tools."""
