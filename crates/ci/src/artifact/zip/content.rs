//! The content of one file of a zip file, held against what the list says of it.

use std::io::{self, BufReader, Error, ErrorKind, Read, Seek, SeekFrom};

use flate2::{Crc, read::DeflateDecoder};

use super::{Entry, odd, u16_at, u32_at};

pub(super) const LOCAL: u32 = 0x0403_4b50;
/// No byte of a packed file stands for more than so many bytes of the file: the most that the method can do.
const LARGEST_RATIO: u64 = 1032;

/// The content of a file from a byte on, exactly as long as the list says. What ends before that, or has another checksum,
/// fails at its end.
///
/// # Errors
/// Where it is packed in a way that is not known here, or the list says what cannot be.
pub fn open<R: Read + Seek>(
    mut source: R,
    entry: &Entry,
    from: u64,
) -> io::Result<impl Read + use<R>> {
    let start = content_start(&mut source, entry)?;
    let left = entry.size.checked_sub(from).ok_or_else(|| odd("behind the end"))?;
    if entry.method == 0 {
        source.seek(SeekFrom::Start(start + from))?;
        let crc = if from == 0 { entry.expected_crc() } else { None };
        return Ok(VerifiedContent { content: Content::Plain(source), left, crc });
    }
    source.seek(SeekFrom::Start(start))?;
    let packed = BufReader::new(source.take(entry.compressed));
    let content = Content::Deflated(Box::new(DeflateDecoder::new(packed)));
    let mut whole = VerifiedContent { content, left: entry.size, crc: entry.expected_crc() };
    if io::copy(&mut whole.by_ref().take(from), &mut io::sink())? < from {
        return Err(odd("shorter than it says"));
    }
    Ok(whole)
}

/// Where the content of a file begins, if what is said of it can be so.
fn content_start(source: &mut (impl Read + Seek), entry: &Entry) -> io::Result<u64> {
    if entry.encrypted {
        return Err(odd("encrypted"));
    }
    let can_be = match entry.method {
        0 => entry.size == entry.compressed,
        8 => entry.size <= entry.compressed.saturating_mul(LARGEST_RATIO),
        _ => return Err(odd("packed in an unknown way")),
    };
    let length = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(entry.offset))?;
    let mut head = [0; 30];
    source.read_exact(&mut head)?;
    if u32_at(&head, 0)? != LOCAL {
        return Err(odd("no file"));
    }
    let behind = u64::from(u16_at(&head, 26)?) + u64::from(u16_at(&head, 28)?);
    let start = entry.offset.checked_add(30 + behind).ok_or_else(|| odd("outside"))?;
    let end = start.checked_add(entry.compressed).filter(|end| can_be && *end <= length);
    end.map(|_| start).ok_or_else(|| odd("not as long as it says"))
}

enum Content<R> {
    Plain(R),
    Deflated(Box<DeflateDecoder<BufReader<io::Take<R>>>>),
}

impl<R: Read> Read for Content<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(plain) => plain.read(into),
            Self::Deflated(packed) => packed.read(into),
        }
    }
}

/// A content that is held against what the list says of it.
struct VerifiedContent<R> {
    content: Content<R>,
    left: u64,
    /// What was read so far, and what it is to come to.
    crc: Option<(Crc, u32)>,
}

impl<R: Read> Read for VerifiedContent<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        if most == 0 {
            return Ok(0);
        }
        let read = self.content.read(&mut into[..most])?;
        if read == 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, "shorter than it says"));
        }
        self.left -= u64::try_from(read).unwrap_or_default();
        if let Some((crc, expected)) = &mut self.crc {
            crc.update(&into[..read]);
            if self.left == 0 && crc.sum() != *expected {
                return Err(odd("another checksum than it says"));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use super::super::{find, tests::zip};
    use super::open;

    /// What comes of reading a file of a thousand bytes, when the list says something else of it.
    fn read_with(change: impl Fn(&mut super::Entry), from: u64) -> Result<usize, &'static str> {
        let mut source = Cursor::new(zip(&[("a", &[b'x'; 1000])]));
        let mut entry = find(&mut source, b"a").unwrap().unwrap();
        change(&mut entry);
        let mut content = open(source, &entry, from).map_err(|_odd| "refused")?;
        let mut text = Vec::new();
        content.read_to_end(&mut text).map_err(|_broken| "broken off")?;
        Ok(text.len())
    }

    #[test]
    fn no_file_is_other_than_its_list_says() {
        assert_eq!(read_with(|_| {}, 0), Ok(1000));
        assert_eq!(read_with(|entry| entry.size = 10, 0), Ok(10));
        assert_eq!(read_with(|entry| entry.size = 1001, 0), Err("broken off"));
        assert_eq!(read_with(|entry| entry.size = u64::MAX, 0), Err("refused"));
        assert_eq!(read_with(|entry| entry.compressed = u64::MAX, 0), Err("refused"));
        assert_eq!(read_with(|entry| entry.crc = 1, 0), Err("broken off"));
        assert_eq!(read_with(|entry| entry.offset = u64::MAX, 0), Err("refused"));
        assert_eq!(read_with(|entry| entry.method = 0, 0), Err("refused"));
    }

    #[test]
    fn a_part_is_read_from_any_byte_on() {
        let mut source = Cursor::new(zip(&[("packed", b"0123456789"), ("stored", b"0123456789")]));
        for (name, from) in [("packed", 0), ("packed", 7), ("stored", 7), ("stored", 10)] {
            let entry = find(&mut source, name.as_bytes()).unwrap().unwrap();
            let mut text = String::new();
            open(&mut source, &entry, from).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "0123456789"[usize::try_from(from).unwrap()..], "{name} from {from}");
            assert!(open(&mut source, &entry, 11).is_err(), "{name}");
        }
    }
}
