reasons! {
    /// All is well.
    Fine => None,
    /// There is no such shelf.
    ShelfMissing => Wait,
    /// There is no key.
    KeyMissing => Wait,
    /// Widgets stand on it.
    Carrying => Wait,
    /// It is broken.
    Broken => Fault,
    /// Another has it.
    Taken => Wait,
}
