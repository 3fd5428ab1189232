//! Random UUIDs (version 4), as headers of deliveries hold them.

/// A new one.
pub fn new() -> String {
    let mut bytes: [u8; 16] = rand::random();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_uuid_says_its_version() {
        let (one, other) = (super::new(), super::new());
        assert_ne!(one, other);
        assert_eq!((one.len(), &one[14..15]), (36, "4"));
    }
}
