//! Files as runners bring them: each packed by itself, one behind the other.

use std::{
    io::{self, BufRead, BufReader},
    ops::ControlFlow,
};

use flate2::bufread::GzDecoder;

/// So many files are taken of one report.
const FILE_LIMIT: usize = 10_000;

/// Calls `each` for every file in turn, until it says that it has enough. Each file has to be read to its end.
///
/// # Errors
/// Where something is not packed so, or there are too many files.
pub(super) fn each_file<R: BufRead>(
    mut packed: R,
    mut each: impl FnMut(&mut dyn BufRead) -> ControlFlow<()>,
) -> io::Result<()> {
    for _ in 0..FILE_LIMIT {
        if packed.fill_buf()?.is_empty() {
            return Ok(());
        }
        let mut file = BufReader::new(GzDecoder::new(packed));
        if each(&mut file).is_break() {
            return Ok(());
        }
        if !file.fill_buf()?.is_empty() {
            return Err(io::Error::other("a file was left in the middle"));
        }
        packed = file.into_inner().into_inner();
    }
    Err(io::Error::other(format!("more than {FILE_LIMIT} files")))
}

#[cfg(test)]
pub(super) mod tests {
    use std::{io::Write as _, ops::ControlFlow};

    use flate2::{Compression, write::GzEncoder};

    use super::each_file;

    /// These files, packed one by one.
    pub(in crate::report) fn pack(files: &[&str]) -> Vec<u8> {
        let one = |text: &&str| {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(text.as_bytes()).unwrap();
            packer.finish().unwrap()
        };
        files.iter().flat_map(one).collect()
    }

    fn unpack(packed: &[u8]) -> std::io::Result<Vec<String>> {
        let mut found = Vec::new();
        each_file(packed, |file| {
            let mut text = String::new();
            match file.read_to_string(&mut text) {
                Ok(_) => found.push(text),
                Err(_) => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    #[test]
    fn files_keep_their_bounds() {
        assert_eq!(unpack(&pack(&["a", "", "bc"])).unwrap(), ["a", "", "bc"]);
        assert_eq!(unpack(b"").unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_cut_off_or_not_packed_ends() {
        let whole = pack(&["some text", "more"]);
        for end in 0..whole.len() {
            if let Ok(found) = unpack(&whole[..end]) {
                assert!(found.len() < 2, "{end}");
            }
        }
    }
}
