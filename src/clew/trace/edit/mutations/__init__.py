"""The mutations of requirements and journeys: each is one class that names its arguments and makes its change."""
