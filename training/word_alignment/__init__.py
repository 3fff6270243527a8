"""Word alignment of a bitext in both directions, and how the two become one."""
