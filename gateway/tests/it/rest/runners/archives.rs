//! Zip files, also such as nobody makes by accident.

use std::io::Write as _;

use flate2::{Compression, Crc, write::DeflateEncoder};

/// A file of an archive, with what the list says of it.
#[derive(Clone)]
pub(super) struct ZipMember {
    pub(super) name: Vec<u8>,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u32,
    pub(super) size: u32,
    /// Added to where the content is said to lie.
    pub(super) shift: u32,
    pub(super) bytes: Vec<u8>,
}

fn number(size: usize) -> u32 {
    u32::try_from(size).expect("small")
}

impl ZipMember {
    /// A file that is kept as it is.
    pub(super) fn plain(name: &str, content: &[u8]) -> Self {
        let mut crc = Crc::new();
        crc.update(content);
        let size = number(content.len());
        let (name, bytes) = (name.as_bytes().to_vec(), content.to_vec());
        Self { name, method: 0, crc: crc.sum(), compressed: size, size, shift: 0, bytes }
    }

    pub(super) fn deflated(name: &str, content: &[u8]) -> Self {
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(content).expect("memory");
        let bytes = packer.finish().expect("memory");
        let compressed = number(bytes.len());
        Self { method: 8, compressed, bytes, ..Self::plain(name, content) }
    }

    /// The same file, of which the list says something else.
    pub(super) fn but(&self, change: impl Fn(&mut Self)) -> Self {
        let mut other = self.clone();
        change(&mut other);
        other
    }

    /// What the head of the file and the entry in the list have in common.
    fn common(&self) -> Vec<u8> {
        let mut common = vec![20, 0, 0, 0];
        common.extend(self.method.to_le_bytes());
        common.extend([0; 4]);
        [self.crc, self.compressed, self.size]
            .iter()
            .for_each(|one| common.extend(one.to_le_bytes()));
        common.extend(u16::try_from(self.name.len()).expect("short").to_le_bytes());
        common.extend([0, 0]);
        common
    }
}

/// A zip file with these files.
pub(super) fn archive_of(files: &[ZipMember]) -> Vec<u8> {
    let (mut whole, mut list) = (Vec::new(), Vec::new());
    for file in files {
        let at = number(whole.len()).wrapping_add(file.shift);
        whole.extend([b"PK\x03\x04", file.common().as_slice(), &file.name, &file.bytes].concat());
        list.extend([b"PK\x01\x02\x14\x03", file.common().as_slice(), &[0; 10]].concat());
        list.extend(at.to_le_bytes());
        list.extend(&file.name);
    }
    let (size, start) = (number(list.len()), number(whole.len()));
    whole.extend(list);
    whole.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    whole.extend(size.to_le_bytes());
    whole.extend(start.to_le_bytes());
    whole.extend([0, 0]);
    whole
}
