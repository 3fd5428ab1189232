//! Encodings of ASN.1 that leave lengths open, as some programs write signatures, in the one form in which lengths are
//! said beforehand.

/// Nobody nests deeper.
const DEEPEST: usize = 24;
const CONSTRUCTED: u8 = 0x20;
const OPEN: u8 = 0x80;

/// The same element with its lengths; `None` for what is no element.
pub(super) fn definite(bytes: &[u8]) -> Option<Vec<u8>> {
    let (element, rest) = element(bytes, DEEPEST)?;
    rest.is_empty().then_some(element)
}

fn element(bytes: &[u8], depth: usize) -> Option<(Vec<u8>, &[u8])> {
    let (tag, rest) = bytes.split_at_checked(tag_length(bytes)?)?;
    let is_constructed = tag.first()? & CONSTRUCTED != 0;
    let (first, rest) = rest.split_first()?;
    if *first == OPEN {
        if !is_constructed {
            return None;
        }
        let (content, rest) = open(rest, depth.checked_sub(1)?)?;
        return Some((written(tag, &content), rest));
    }
    let (length, rest) = length(*first, rest)?;
    let (content, rest) = rest.split_at_checked(length)?;
    if !is_constructed {
        return Some((written(tag, content), rest));
    }
    let (mut inside, mut left) = (Vec::with_capacity(length), content);
    while !left.is_empty() {
        let (one, after) = element(left, depth.checked_sub(1)?)?;
        inside.extend_from_slice(&one);
        left = after;
    }
    Some((written(tag, &inside), rest))
}

/// The elements up to the mark that ends them.
fn open(bytes: &[u8], depth: usize) -> Option<(Vec<u8>, &[u8])> {
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

/// Large tags go on over bytes with the highest bit.
fn tag_length(bytes: &[u8]) -> Option<usize> {
    const LARGE: u8 = 0x1f;
    if bytes.first()? & LARGE != LARGE {
        return Some(1);
    }
    let last = bytes[1..].iter().position(|byte| byte & 0x80 == 0)?;
    Some(last + 2)
}

fn length(first: u8, rest: &[u8]) -> Option<(usize, &[u8])> {
    if first < OPEN {
        return Some((first.into(), rest));
    }
    let (digits, rest) = rest.split_at_checked((first & 0x7f).into())?;
    let add = |sum: usize, digit: &u8| sum.checked_mul(256)?.checked_add((*digit).into());
    Some((digits.iter().try_fold(0, add)?, rest))
}

fn written(tag: &[u8], content: &[u8]) -> Vec<u8> {
    let digits = content.len().to_be_bytes();
    let digits = &digits[digits.iter().take_while(|digit| **digit == 0).count()..];
    let mut all = tag.to_vec();
    match digits {
        [] => all.push(0),
        [one] if *one < OPEN => all.push(*one),
        more => {
            all.push(OPEN | u8::try_from(more.len()).unwrap_or(0x7f));
            all.extend_from_slice(more);
        }
    }
    all.extend_from_slice(content);
    all
}

#[cfg(test)]
mod tests {
    use super::definite;

    #[test]
    fn open_lengths_are_said() {
        let open = [0x30, 0x80, 0x02, 0x01, 7, 0xa0, 0x80, 0x04, 0x81, 0x01, 9, 0, 0, 0, 0];
        assert_eq!(
            definite(&open).as_deref(),
            Some(&[0x30, 8, 0x02, 1, 7, 0xa0, 3, 0x04, 1, 9][..])
        );
        let long = [&[0x04, 0x82, 0x01, 0x00][..], &[5; 256]].concat();
        assert_eq!(definite(&long), Some(long));
    }

    #[test]
    fn what_is_no_element_is_none() {
        let deep = [0x30, 0x80].repeat(100);
        for bytes in
            [&[][..], &[0x30], &[0x30, 0x80], &[0x04, 0x80, 0, 0], &[0x04, 2, 1], &[5, 0, 0], &deep]
        {
            assert_eq!(definite(bytes), None, "{bytes:?}");
        }
        assert_eq!(definite(&[0x04, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]), None);
    }
}
