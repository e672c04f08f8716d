"""The camera over the table: opening and choosing it, aiming, calibrating, teaching it tiles, the self-test."""
