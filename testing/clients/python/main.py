"""Cloudflare's Python SDK as a witness: every situation of testing/clients/situations.txt, in that order."""

import sys

import records
import zones
from refusals import refusals
from stage import close, compare, situation
from tunnels import tunnels

zones.begin()
records.begin()
refusals()
records.end()
tunnels()
zones.end()
situation("every answer fits the types of the client", compare)
sys.exit(0 if close() else 1)
