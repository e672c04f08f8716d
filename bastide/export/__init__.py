"""What people take away: a game for JCloisterZone, a picture of the result, printable sheets."""
