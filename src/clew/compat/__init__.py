"""Tools of other systems, each set for a profile of its own, as adapters over the services.

An adapter translates the arguments and answers of another system into requests of a service. It may import every
service and the layers below them; no service may import it. It must not hold a rule of its own, keep data, or know
which surface calls.
"""

# Implements: REQ-p00003
