"""python -m polyrace."""
