//! Hooks: what a kind's table cannot say, one file per kind.
