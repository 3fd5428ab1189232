//! A suite as it is kept: a line for each test, in the order in which they are shown.

use std::{
    cmp::Ordering,
    io::{self, BufRead, BufReader, Read, Write},
};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use kernel::TextEnum as _;
use serde_json::{json, value::RawValue};

use super::{Case, CaseKey, CaseStatus, Suite, in_order};

/// A test as it was kept.
#[derive(Debug)]
pub struct StoredCase {
    pub(in crate::report) key: CaseKey,
    /// Seconds.
    time: f64,
    /// As reports show it.
    pub(in crate::report) shown: Box<RawValue>,
}

impl StoredCase {
    pub(in crate::report) fn in_order(one: &Self, other: &Self) -> Ordering {
        in_order((one.key.status, one.time), (other.key.status, other.time))
    }
}

impl Suite {
    /// Writes the tests down, packed; the answer is their size before that.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn store(&self, into: impl Write) -> io::Result<u64> {
        let mut packed = GzEncoder::new(into, Compression::fast());
        let mut size = 0;
        for (key, case) in self.keyed() {
            let (digest, time) = (hex::encode(key.digest), case.execution_time);
            let line = format!("{} {digest} {time} {}\n", key.status, shown(case));
            packed.write_all(line.as_bytes())?;
            size += u64::try_from(line.len()).unwrap_or(u64::MAX);
        }
        packed.finish()?;
        Ok(size)
    }

    /// The tests that were written down, `size` bytes of them.
    ///
    /// # Errors
    /// Where it cannot be read, or is nothing that was written so.
    pub fn stored(packed: impl Read, size: u64) -> io::Result<Vec<StoredCase>> {
        let lines = GzDecoder::new(BufReader::new(packed)).take(size);
        BufReader::new(lines).lines().map(|line| stored_case(&line?)).collect()
    }
}

fn shown(case: &Case) -> serde_json::Value {
    json!({
        "status": case.status,
        "name": case.name,
        "classname": case.classname,
        "file": case.file,
        "execution_time": case.execution_time,
        "system_output": case.system_output,
        "stack_trace": null,
        "recent_failures": null,
    })
}

fn stored_case(line: &str) -> io::Result<StoredCase> {
    let odd = || io::Error::from(io::ErrorKind::InvalidData);
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().ok_or_else(odd);
    let status = CaseStatus::find(word()?).ok_or_else(odd)?;
    let mut digest = [0; 20];
    hex::decode_to_slice(word()?, &mut digest).map_err(|_no_digest| odd())?;
    let time = word()?.parse().map_err(|_no_number| odd())?;
    let shown = RawValue::from_string(word()?.to_owned()).map_err(|_no_json| odd())?;
    Ok(StoredCase { key: CaseKey { status, digest }, time, shown })
}

#[cfg(test)]
mod tests {
    use super::Suite;
    use crate::report::junit::Limits;

    #[test]
    fn what_is_kept_is_what_was_read() {
        let mut suite = Suite::new("job");
        let xml = "<testsuite><testcase name='a b' time='0.25'/><testcase name='c'><failure>no\nway</failure></testcase></testsuite>";
        suite.read(xml.as_bytes(), &Limits::default());
        let mut kept = Vec::new();

        let size = suite.store(&mut kept).unwrap();

        let cases = Suite::stored(kept.as_slice(), size).unwrap();
        let told: Vec<&str> = cases.iter().map(|case| case.shown.get()).collect();
        assert!(
            told[0].starts_with(r#"{"status":"failed","name":"c","classname":null"#),
            "{told:?}"
        );
        assert!(told[0].contains(r#""system_output":"no\nway""#), "{told:?}");
        assert!((cases[1].time - 0.25).abs() < f64::EPSILON);
        assert!(Suite::stored(&b"odd"[..], 10).is_err());
        assert!(Suite::stored(kept.as_slice(), size / 2).is_err());
    }
}
