//! kindgen
