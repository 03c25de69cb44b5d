"""Two JSON Schemas of one tool compared, place by place, in words."""
