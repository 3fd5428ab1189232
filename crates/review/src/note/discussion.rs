//! Notes that answer each other.

/// The name of a new discussion: 40 hexadecimal digits that nobody can guess.
pub(crate) fn fresh() -> String {
    hex::encode(rand::random::<[u8; 20]>())
}
