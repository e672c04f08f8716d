"""From frames to likelihoods: numpy, OpenCV, scikit-image. Never decides a rule, never returns a game object."""
