"""Constants of the array API standard, and Euler's: Python floats, weak beside arrays."""
import math

e, inf, nan, pi, euler_gamma = math.e, math.inf, math.nan, math.pi, 0.5772156649015329
newaxis = None
