"""When: due times, the queue, the workers, the chores."""
