"""The first steps, from a machine that was just switched on to a first scored road."""
