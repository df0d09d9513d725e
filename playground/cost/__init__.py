"""What attention costs: measured here, counted for whole models, and what cheaper kinds change."""
