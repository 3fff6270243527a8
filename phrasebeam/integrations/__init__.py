"""The interfaces of other packages, behind which a model of this one stands."""
