"""Calibration of lens, table plane and colours; aiming, drift detection and teaching sheets."""
