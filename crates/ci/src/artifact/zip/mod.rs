//! What is in a zip file, and one file of it. Nothing is unpacked, and the list of files is never held as a whole: whoever
//! made the file may have wanted it to be a burden.

mod content;

use std::io::{self, BufReader, Error, ErrorKind, Read, Seek, SeekFrom};

use flate2::Crc;

pub use content::open;

const END: u32 = 0x0605_4b50;
const END_64_AT: u32 = 0x0706_4b50;
const END_64: u32 = 0x0606_4b50;
const ENTRY: u32 = 0x0201_4b50;
/// The end has a comment of at most so many bytes.
const LONGEST_END: u64 = 22 + 65_535;

/// A file or folder of a zip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: Vec<u8>,
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
    /// Of Unix, where it is known.
    pub mode: u32,
    encrypted: bool,
    method: u16,
    offset: u64,
}

impl Entry {
    pub fn is_folder(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Whether a part can be had without what is before it.
    pub fn is_stored(&self) -> bool {
        self.method == 0
    }

    /// None where whoever made the list did not know it.
    fn expected_crc(&self) -> Option<(Crc, u32)> {
        (self.crc != 0).then(|| (Crc::new(), self.crc))
    }
}

fn odd(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    let part = bytes.get(at..at + 2).ok_or_else(|| odd("cut off"))?;
    Ok(u16::from_le_bytes([part[0], part[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    Ok(u32::from(u16_at(bytes, at)?) | u32::from(u16_at(bytes, at + 2)?) << 16)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    Ok(u64::from(u32_at(bytes, at)?) | u64::from(u32_at(bytes, at + 4)?) << 32)
}

/// Where the list of files begins, and how long it is.
fn directory(source: &mut (impl Read + Seek)) -> io::Result<(u64, u64)> {
    let length = source.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(LONGEST_END);
    source.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    source.by_ref().take(LONGEST_END).read_to_end(&mut tail)?;
    let starts = (0..tail.len().saturating_sub(21)).rev();
    let end = starts.into_iter().find(|at| u32_at(&tail, *at).is_ok_and(|word| word == END));
    let end = end.ok_or_else(|| odd("no end"))?;
    let (size, start) = (u32_at(&tail, end + 12)?, u32_at(&tail, end + 16)?);
    let mut found = (u64::from(start), u64::from(size));
    let far = end.checked_sub(20).filter(|_| start == u32::MAX || size == u32::MAX);
    if let Some(at) = far.filter(|at| u32_at(&tail, *at).is_ok_and(|word| word == END_64_AT)) {
        source.seek(SeekFrom::Start(u64_at(&tail, at + 8)?))?;
        let mut end = [0; 56];
        source.read_exact(&mut end)?;
        if u32_at(&end, 0)? != END_64 {
            return Err(odd("no far end"));
        }
        found = (u64_at(&end, 48)?, u64_at(&end, 40)?);
    }
    match found.0.checked_add(found.1).is_some_and(|end| end <= length) {
        true => Ok(found),
        false => Err(odd("the list lies outside")),
    }
}

/// Calls `each` for every file and folder in turn, until it says that it has enough.
///
/// # Errors
/// Where it is no zip file.
pub fn each_entry(
    source: &mut (impl Read + Seek),
    mut each: impl FnMut(Entry) -> io::Result<bool>,
) -> io::Result<()> {
    let (start, size) = directory(source)?;
    source.seek(SeekFrom::Start(start))?;
    let mut list = BufReader::with_capacity(64 << 10, source.take(size));
    loop {
        let mut head = [0; 46];
        match list.read_exact(&mut head) {
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        if u32_at(&head, 0)? != ENTRY {
            return Err(odd("no entry"));
        }
        let mut name = vec![0; usize::from(u16_at(&head, 28)?)];
        list.read_exact(&mut name)?;
        let mut extra = vec![0; usize::from(u16_at(&head, 30)?)];
        list.read_exact(&mut extra)?;
        let mut comment = vec![0; usize::from(u16_at(&head, 32)?)];
        list.read_exact(&mut comment)?;
        if each(entry(&head, name, &extra)?)? {
            return Ok(());
        }
    }
}

fn entry(head: &[u8], name: Vec<u8>, extra: &[u8]) -> io::Result<Entry> {
    let mut sizes = [u32_at(head, 24)?, u32_at(head, 20)?, u32_at(head, 42)?].map(u64::from);
    let mut rest = extra;
    while rest.len() >= 4 {
        let (kind, length) = (u16_at(rest, 0)?, usize::from(u16_at(rest, 2)?));
        let field = rest.get(4..4 + length).ok_or_else(|| odd("cut off"))?;
        if kind == 1 {
            // Those that do not fit into 32 bits, in this order.
            let mut at = 0;
            for size in sizes.iter_mut().filter(|size| **size == u64::from(u32::MAX)) {
                *size = u64_at(field, at)?;
                at += 8;
            }
        }
        rest = &rest[4 + length..];
    }
    let [size, compressed, offset] = sizes;
    Ok(Entry {
        name,
        crc: u32_at(head, 16)?,
        compressed,
        size,
        mode: u32_at(head, 38)? >> 16,
        encrypted: u16_at(head, 8)? & 1 == 1,
        method: u16_at(head, 10)?,
        offset,
    })
}

/// The file at a path.
///
/// # Errors
/// Where it is no zip file.
pub fn find(source: &mut (impl Read + Seek), name: &[u8]) -> io::Result<Option<Entry>> {
    let mut found = None;
    each_entry(source, |entry| {
        let is_it = entry.name == name && !entry.is_folder();
        found = found.take().or(is_it.then_some(entry));
        Ok(is_it)
    })?;
    Ok(found)
}

/// Whether anything lies in a folder, whose name ends in `/`.
///
/// # Errors
/// Where it is no zip file.
pub fn has_below(source: &mut (impl Read + Seek), folder: &[u8]) -> io::Result<bool> {
    let mut found = false;
    each_entry(source, |entry| {
        found |= entry.name.starts_with(folder);
        Ok(found)
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _, Write as _};

    use super::{each_entry, find, open};

    /// A zip file with these files, every other one packed.
    pub(super) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut whole, mut list) = (Vec::new(), Vec::new());
        for (index, (name, content)) in files.iter().enumerate() {
            let method: u16 = if index % 2 == 0 { 8 } else { 0 };
            let mut packer =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(content).unwrap();
            let packed = if method == 8 { packer.finish().unwrap() } else { content.to_vec() };
            let offset = u32::try_from(whole.len()).unwrap();
            let sizes = [packed.len(), content.len()].map(|size| u32::try_from(size).unwrap());
            let length = u16::try_from(name.len()).unwrap();
            let mut common = Vec::new();
            common.extend([20, 0, 0, 0]);
            common.extend(method.to_le_bytes());
            common.extend([0; 8]);
            sizes.iter().for_each(|size| common.extend(size.to_le_bytes()));
            common.extend(length.to_le_bytes());
            common.extend([0, 0]);
            whole.extend(super::content::LOCAL.to_le_bytes());
            whole.extend(&common);
            whole.extend(name.as_bytes());
            whole.extend(packed);
            list.extend(super::ENTRY.to_le_bytes());
            list.extend([20, 3]);
            list.extend(&common);
            list.extend([0; 6]);
            list.extend((0o100_644_u32 << 16).to_le_bytes());
            list.extend(offset.to_le_bytes());
            list.extend(name.as_bytes());
        }
        let (start, size) =
            (u32::try_from(whole.len()).unwrap(), u32::try_from(list.len()).unwrap());
        whole.extend(list);
        whole.extend(super::END.to_le_bytes());
        whole.extend([0; 8]);
        whole.extend(size.to_le_bytes());
        whole.extend(start.to_le_bytes());
        whole.extend([0, 0]);
        whole
    }

    #[test]
    fn one_file_is_read_without_the_others() {
        let bytes = zip(&[("a.txt", b"one"), ("dir/b.txt", b"two"), ("dir/", b"")]);
        let mut source = Cursor::new(bytes);
        for (name, content) in [("a.txt", "one"), ("dir/b.txt", "two")] {
            let entry = find(&mut source, name.as_bytes()).unwrap().unwrap();
            let mut text = String::new();
            open(&mut source, &entry, 0).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), entry.mode & 0o777), (content, 0o644));
        }
        for name in ["dir/", "b.txt", "../a.txt", ""] {
            assert_eq!(find(&mut source, name.as_bytes()).unwrap(), None, "{name}");
        }
    }

    #[test]
    fn what_is_no_zip_file_is_refused_at_any_place() {
        let whole = zip(&[("a.txt", &b"one".repeat(100)), ("b", b"two")]);
        for end in 0..whole.len() {
            let mut source = Cursor::new(&whole[..end]);
            assert!(each_entry(&mut source, |_| Ok(false)).is_err(), "{end}");
        }
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 0xff;
            let mut source = Cursor::new(bent);
            let entry = find(&mut source, b"a.txt").ok().flatten();
            let Some(entry) = entry.filter(|entry| entry.size < 1 << 20) else { continue };
            if let Ok(mut content) = open(&mut source, &entry, 0) {
                // It ends, in whatever way.
                drop(std::io::copy(&mut content, &mut std::io::sink()));
            }
        }
    }
}
