//! kflare
fn main() {}
