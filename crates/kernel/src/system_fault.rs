//! What the machine refuses: no room on the disk, no more open files or memory, a name that no folder takes. Whoever
//! meets one of these deep inside needs not know it: [`Error::internal`](crate::Error::internal) looks for it.

use std::{error::Error as StdError, io, iter::successors};

/// A failure of the machine, and not of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemFault {
    /// The disk has no byte or no file left, for anybody or for this account.
    NoRoom,
    /// No more open files, processes or memory for now.
    NoMeans,
    /// A part of a path that is longer than the file system takes.
    LongName,
}

/// `EMFILE` and `ENFILE`, which have no kind of their own.
const TOO_MANY_FILES: [i32; 2] = [24, 23];

/// The words of the C library, of SQLite, and of `Debug`, by which failures are told that were put into a text on the
/// way here: those of git children, of gix and of PostgreSQL.
const WORDS: [(&str, SystemFault); 10] = [
    ("No space left on device", SystemFault::NoRoom),
    ("Disk quota exceeded", SystemFault::NoRoom),
    ("database or disk is full", SystemFault::NoRoom),
    ("kind: StorageFull", SystemFault::NoRoom),
    ("kind: QuotaExceeded", SystemFault::NoRoom),
    ("Too many open files", SystemFault::NoMeans),
    ("Cannot allocate memory", SystemFault::NoMeans),
    ("kind: OutOfMemory", SystemFault::NoMeans),
    ("File name too long", SystemFault::LongName),
    ("kind: InvalidFilename", SystemFault::LongName),
];

impl SystemFault {
    /// The fault that led to an error, if it was one.
    pub fn behind(error: &(dyn StdError + 'static)) -> Option<Self> {
        successors(Some(error), |&error| error.source()).find_map(Self::of)
    }

    fn of(error: &(dyn StdError + 'static)) -> Option<Self> {
        let by_kind = error.downcast_ref::<io::Error>().and_then(Self::of_io);
        by_kind.or_else(|| Self::in_words(&error.to_string()))
    }

    fn of_io(error: &io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(Self::NoRoom),
            io::ErrorKind::OutOfMemory => Some(Self::NoMeans),
            io::ErrorKind::InvalidFilename => Some(Self::LongName),
            _ => error
                .raw_os_error()
                .is_some_and(|code| TOO_MANY_FILES.contains(&code))
                .then_some(Self::NoMeans),
        }
    }

    /// The fault that a text tells of.
    pub fn in_words(text: &str) -> Option<Self> {
        WORDS.iter().find(|(words, _)| text.contains(words)).map(|(_, fault)| *fault)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::SystemFault::{self, LongName, NoMeans, NoRoom};
    use crate::{Error, error::Kind};

    #[test]
    fn a_fault_of_the_machine_is_found_by_its_number() {
        let found = [28, 122, 24, 23, 12, 36, 2].map(|code| {
            let inner = io::Error::from_raw_os_error(code);
            SystemFault::behind(&inner)
        });
        let wanted = [NoRoom, NoRoom, NoMeans, NoMeans, NoMeans, LongName].map(Some);
        assert_eq!(found[..6], wanted);
        assert_eq!(found[6], None);
    }

    #[test]
    fn a_fault_is_found_below_other_errors_and_in_their_texts() {
        let below = io::Error::other(Error::internal(io::Error::from_raw_os_error(28)));
        assert_eq!(SystemFault::behind(&below), Some(NoRoom));
        let told = format!("cannot write: {:?}", io::Error::from_raw_os_error(36));
        assert_eq!(SystemFault::in_words(&told), Some(LongName));
        assert_eq!(
            SystemFault::in_words("fatal: unable to create: Too many open files"),
            Some(NoMeans)
        );
        assert_eq!(SystemFault::in_words("something else"), None);
    }

    #[test]
    fn an_internal_error_tells_the_fault_of_the_machine() {
        let of = |code| Error::internal(io::Error::from_raw_os_error(code));
        assert!(of(28).kind == Kind::Full);
        assert!(of(24).kind == Kind::Unavailable && of(24).is_ours());
        assert!(of(36).has_reason(Kind::BadRequest));
        assert!(of(5).kind == Kind::Internal);
        assert!(Error::internal("database or disk is full").kind == Kind::Full);
    }
}
