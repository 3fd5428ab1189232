//! Conversion from BER to DER: indefinite lengths, as some programs write them, become definite ones.

/// Real messages do not nest deeper.
const MAX_DEPTH: usize = 24;
const CONSTRUCTED: u8 = 0x20;
const INDEFINITE: u8 = 0x80;

/// The same element with definite lengths; `None` when the bytes are not exactly one element.
pub(super) fn to_definite(bytes: &[u8]) -> Option<Vec<u8>> {
    let (element, rest) = element(bytes, MAX_DEPTH)?;
    rest.is_empty().then_some(element)
}

fn element(bytes: &[u8], depth: usize) -> Option<(Vec<u8>, &[u8])> {
    let (tag, rest) = bytes.split_at_checked(tag_length(bytes)?)?;
    let is_constructed = tag.first()? & CONSTRUCTED != 0;
    let (first, rest) = rest.split_first()?;
    if *first == INDEFINITE {
        if !is_constructed {
            return None;
        }
        let (content, rest) = indefinite(rest, depth.checked_sub(1)?)?;
        return Some((encode(tag, &content), rest));
    }
    let (length, rest) = length(*first, rest)?;
    let (content, rest) = rest.split_at_checked(length)?;
    if !is_constructed {
        return Some((encode(tag, content), rest));
    }
    let (mut inside, mut left) = (Vec::with_capacity(length), content);
    while !left.is_empty() {
        let (one, after) = element(left, depth.checked_sub(1)?)?;
        inside.extend_from_slice(&one);
        left = after;
    }
    Some((encode(tag, &inside), rest))
}

/// The elements before the end-of-contents marker.
fn indefinite(bytes: &[u8], depth: usize) -> Option<(Vec<u8>, &[u8])> {
    let (mut inside, mut left) = (Vec::new(), bytes);
    loop {
        if let Some(rest) = left.strip_prefix(&[0, 0]) {
            return Some((inside, rest));
        }
        let (one, after) = element(left, depth)?;
        inside.extend_from_slice(&one);
        left = after;
    }
}

/// A large tag continues over bytes whose highest bit is set.
fn tag_length(bytes: &[u8]) -> Option<usize> {
    const LARGE: u8 = 0x1f;
    if bytes.first()? & LARGE != LARGE {
        return Some(1);
    }
    let last = bytes[1..].iter().position(|byte| byte & 0x80 == 0)?;
    Some(last + 2)
}

fn length(first: u8, rest: &[u8]) -> Option<(usize, &[u8])> {
    if first < INDEFINITE {
        return Some((first.into(), rest));
    }
    let (digits, rest) = rest.split_at_checked((first & 0x7f).into())?;
    let add = |sum: usize, digit: &u8| sum.checked_mul(256)?.checked_add((*digit).into());
    Some((digits.iter().try_fold(0, add)?, rest))
}

fn encode(tag: &[u8], content: &[u8]) -> Vec<u8> {
    let digits = content.len().to_be_bytes();
    let digits = &digits[digits.iter().take_while(|digit| **digit == 0).count()..];
    let mut all = tag.to_vec();
    match digits {
        [] => all.push(0),
        [one] if *one < INDEFINITE => all.push(*one),
        more => {
            all.push(INDEFINITE | u8::try_from(more.len()).unwrap_or(0x7f));
            all.extend_from_slice(more);
        }
    }
    all.extend_from_slice(content);
    all
}

#[cfg(test)]
mod tests {
    use super::to_definite;

    #[test]
    fn indefinite_lengths_become_definite() {
        let open = [0x30, 0x80, 0x02, 0x01, 7, 0xa0, 0x80, 0x04, 0x81, 0x01, 9, 0, 0, 0, 0];
        assert_eq!(
            to_definite(&open).as_deref(),
            Some(&[0x30, 8, 0x02, 1, 7, 0xa0, 3, 0x04, 1, 9][..])
        );
        let long = [&[0x04, 0x82, 0x01, 0x00][..], &[5; 256]].concat();
        assert_eq!(to_definite(&long), Some(long));
    }

    #[test]
    fn malformed_elements_are_refused() {
        let deep = [0x30, 0x80].repeat(100);
        for bytes in
            [&[][..], &[0x30], &[0x30, 0x80], &[0x04, 0x80, 0, 0], &[0x04, 2, 1], &[5, 0, 0], &deep]
        {
            assert_eq!(to_definite(bytes), None, "{bytes:?}");
        }
        assert_eq!(to_definite(&[0x04, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]), None);
    }
}
