//! tool
fn main() {}
