//! The escapes of texts.

const HEX: &[u8; 16] = b"0123456789abcdef";
/// One in each byte of eight.
const ONES: u64 = u64::from_ne_bytes([1; 8]);
/// The highest bit of each byte of eight.
const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Appends a text with its escapes.
pub(crate) fn append(text: &mut Vec<u8>, value: &str) {
    let mut rest = value.as_bytes();
    loop {
        let (plain, special) = rest.split_at(plain_length(rest));
        text.extend_from_slice(plain);
        let Some((byte, after)) = special.split_first() else { return };
        append_escape(text, *byte);
        rest = after;
    }
}

fn append_escape(text: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 0xf));
            text.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[high], HEX[low]]);
            return;
        }
    };
    text.extend_from_slice(&[b'\\', short]);
}

/// How many bytes stand before the first that needs an escape.
fn plain_length(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<8>();
    let plain = blocks.iter().take_while(|block| !has_special(**block)).count();
    let exact = |bytes: &[u8]| bytes.iter().take_while(|byte| !is_special(**byte)).count();
    if plain < blocks.len() {
        return plain * 8 + exact(&blocks[plain]);
    }
    // The last eight bytes once more, rather than the rest one by one.
    match bytes.last_chunk::<8>() {
        Some(last) if !has_special(*last) => bytes.len(),
        _ => plain * 8 + exact(rest),
    }
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Whether one of eight bytes needs an escape. A byte is below another one where the subtraction borrows and its own highest
/// bit is not set; what a borrow does to the bytes above it is no matter where there is one already.
fn has_special(block: [u8; 8]) -> bool {
    let all = u64::from_le_bytes(block);
    let below = |bytes: u64, bound: u8| {
        bytes.wrapping_sub(ONES.wrapping_mul(u64::from(bound))) & !bytes & TOPS
    };
    let quote = all ^ ONES.wrapping_mul(u64::from(b'"'));
    let backslash = all ^ ONES.wrapping_mul(u64::from(b'\\'));
    (below(all, 0x20) | below(quote, 1) | below(backslash, 1)) != 0
}
