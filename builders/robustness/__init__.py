"""Robustness sets: any set under perturbations of its texts and videos."""
