"""Property tests here run as long as they need: no test may depend on the clock."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
