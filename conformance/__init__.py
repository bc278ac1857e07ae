"""The suite: contract, trace language, player, judge, baseline, pytest plugin and command line."""
