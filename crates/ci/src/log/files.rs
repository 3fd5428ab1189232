//! The files that hold logs. They only grow; a restart finds them as long as they were written.

use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, File, OpenOptions},
    io::{self, Read, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use kernel::{
    Error, Result,
    ids::{JobId, PipelineId, ProjectId},
};

use super::Mask;

/// A log of which nothing was heard for so long is closed; whoever goes on with it opens it again.
const IDLE: Duration = Duration::from_secs(600);
/// So many are open before those are looked for that may be closed.
const MANY: usize = 256;

/// The key of a job's log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogKey {
    pub project: ProjectId,
    pub pipeline: PipelineId,
    pub job: JobId,
}

/// The result of appending to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendResult {
    /// It is kept, now or since it was sent before. With the length of the log.
    Kept(u64),
    /// It does not go on where the log ends, which is here.
    Elsewhere(u64),
}

#[derive(Debug)]
struct OpenLog {
    file: File,
    /// Bytes in the file.
    written: u64,
    mask: Mask,
    /// What was received and may yet turn out to be the beginning of a secret.
    kept: Vec<u8>,
    touched: Instant,
    /// Whether all of it is on the disk, and nothing follows.
    complete: bool,
    /// Whether a piece could not be written: it is opened again, with what is in the file.
    failed: bool,
}

impl OpenLog {
    fn length(&self) -> u64 {
        self.written + u64::try_from(self.kept.len()).unwrap_or_default()
    }

    fn append(&mut self, start: u64, piece: &[u8]) -> io::Result<AppendResult> {
        self.touched = Instant::now();
        let length = self.length();
        if start != length {
            let end = start.saturating_add(u64::try_from(piece.len()).unwrap_or_default());
            return Ok(if end == length {
                AppendResult::Kept(length)
            } else {
                AppendResult::Elsewhere(length)
            });
        }
        let before = self.kept.len();
        self.kept.extend_from_slice(piece);
        let (hidden, end) = self.mask.shown(&self.kept);
        if let Err(failure) = self.write(&hidden[..end]) {
            self.kept.truncate(before);
            return Err(failure);
        }
        self.kept.drain(..end);
        Ok(AppendResult::Kept(self.length()))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(failure) = self.file.write_all(bytes) {
            // Half a piece is taken back: the runner sends all of it again. What stays of it all the same is counted when
            // the log is opened again.
            let _stays = self.file.set_len(self.written);
            return Err(failure);
        }
        self.written += u64::try_from(bytes.len()).unwrap_or_default();
        Ok(())
    }

    /// Nothing follows any more: all of it is shown.
    fn finish(&mut self) -> io::Result<u64> {
        let (hidden, _) = self.mask.shown(&self.kept);
        self.write(&hidden)?;
        self.kept.clear();
        self.file.sync_all()?;
        Ok(self.written)
    }
}

type SharedLog = Arc<Mutex<OpenLog>>;

/// All logs of an installation.
#[derive(Debug)]
pub struct LogFiles {
    root: PathBuf,
    open: Mutex<HashMap<JobId, SharedLog>>,
}

impl LogFiles {
    pub fn new(data: &Path) -> Self {
        Self { root: data.join("logs"), open: Mutex::default() }
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, HashMap<JobId, SharedLog>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(&self, project: ProjectId) -> PathBuf {
        self.root.join(project.to_string())
    }

    /// The file of a log, which need not be there.
    pub fn path(&self, place: LogKey) -> PathBuf {
        let folder = self.folder(place.project).join(place.pipeline.to_string());
        folder.join(format!("{}.log", place.job))
    }

    /// Whether a log is open, so that it is known what to hide in it.
    pub fn is_open(&self, job: JobId) -> bool {
        self.opened().contains_key(&job)
    }

    /// Opens a log, in which these secrets are hidden. One that is open stays as it is. May block.
    pub fn open(&self, place: LogKey, mask: Mask) -> Result<()> {
        self.close_idle();
        let path = self.path(place);
        let open = || -> io::Result<OpenLog> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let file = OpenOptions::new().append(true).create(true).open(&path)?;
            let written = file.metadata()?.len();
            Ok(OpenLog {
                file,
                written,
                mask,
                kept: Vec::new(),
                touched: Instant::now(),
                complete: false,
                failed: false,
            })
        };
        let log = open().map_err(Error::internal)?;
        self.opened().entry(place.job).or_insert_with(|| Arc::new(Mutex::new(log)));
        Ok(())
    }

    /// Adds a piece of a log that is open; `None` where it is not. May block.
    pub fn append(&self, job: JobId, start: u64, piece: &[u8]) -> Result<Option<AppendResult>> {
        let Some(open) = self.opened().get(&job).map(Arc::clone) else { return Ok(None) };
        let mut log = open.lock().unwrap_or_else(PoisonError::into_inner);
        if log.complete {
            return Ok(None);
        }
        if log.failed {
            return Ok(Some(AppendResult::Elsewhere(log.written)));
        }
        log.append(start, piece).map(Some).map_err(|failure| {
            log.failed = true;
            self.opened().retain(|_, other| !Arc::ptr_eq(&open, other));
            Error::internal(failure)
        })
    }

    /// How long the log is by now; nothing where it is not open.
    pub fn length(&self, job: JobId) -> Option<u64> {
        let log = self.opened().get(&job).map(Arc::clone)?;
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        Some(log.length())
    }

    /// How much of a log can be shown by now: all of its file, but for a piece that is being written. May block.
    pub fn shown(&self, place: LogKey) -> u64 {
        let open = self.opened().get(&place.job).map(Arc::clone);
        match open {
            Some(log) => log.lock().unwrap_or_else(PoisonError::into_inner).written,
            None => fs::metadata(self.path(place)).map_or(0, |about| about.len()),
        }
    }

    /// Closes a log, all of which is on the disk from then on; tells how long it is. May block.
    pub fn complete(&self, place: LogKey) -> Result<u64> {
        let open = self.opened().get(&place.job).map(Arc::clone);
        let Some(log) = open else {
            return Ok(fs::metadata(self.path(place)).map_or(0, |about| about.len()));
        };
        // What cannot be written stays open, so that it can be tried again.
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let length = log.finish().map_err(Error::internal)?;
        self.sync_folders(&[place])?;
        log.complete = true;
        drop(log);
        self.opened().remove(&place.job);
        Ok(length)
    }

    /// Writes the whole log of a job that has ended; tells how long it is. All of it is on the disk once its folders are, too:
    /// see [`sync_folders`](Self::sync_folders). May block.
    pub fn keep(&self, place: LogKey, mut whole: impl Read) -> Result<u64> {
        let path = self.path(place);
        let mut keep = || -> io::Result<u64> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            // Not emptied before: where two write the same log at once, neither takes away what the other has written.
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            let length = io::copy(&mut whole, &mut file)?;
            file.set_len(length)?;
            file.sync_all()?;
            Ok(length)
        };
        keep().map_err(Error::internal)
    }

    /// Has the folders of some logs be on the disk, each once: they may be new. May block.
    pub fn sync_folders(&self, places: &[LogKey]) -> Result<()> {
        let mut folders = BTreeSet::new();
        for place in places {
            let path = self.path(*place);
            folders.extend(folders_above(&path, &self.root).map(Path::to_owned));
        }
        folders.iter().try_for_each(|folder| sync_folder(folder)).map_err(Error::internal)
    }

    fn close_idle(&self) {
        let mut open = self.opened();
        if open.len() >= MANY {
            // One that somebody writes to at this moment is not idle.
            open.retain(|_, log| log.try_lock().map_or(true, |log| log.touched.elapsed() < IDLE));
        }
    }

    /// Removes a log. May block.
    pub fn remove(&self, place: LogKey) -> Result<()> {
        self.opened().remove(&place.job);
        gone(fs::remove_file(self.path(place)))
    }

    /// Removes the logs of a pipeline. May block.
    pub fn remove_pipeline(&self, project: ProjectId, pipeline: PipelineId) -> Result<()> {
        gone(fs::remove_dir_all(self.folder(project).join(pipeline.to_string())))
    }

    /// Removes all logs of a project. May block.
    pub fn remove_project(&self, project: ProjectId) -> Result<()> {
        gone(fs::remove_dir_all(self.folder(project)))
    }
}

fn folders_above<'p>(path: &'p Path, root: &'p Path) -> impl Iterator<Item = &'p Path> {
    path.ancestors().skip(1).take_while(move |above| above.starts_with(root))
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn gone(removed: io::Result<()>) -> Result<()> {
    match removed {
        Err(failure) if failure.kind() != io::ErrorKind::NotFound => Err(Error::internal(failure)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use kernel::ids::{JobId, PipelineId, ProjectId};

    use super::{AppendResult, LogFiles, LogKey, Mask};

    const PLACE: LogKey = LogKey { project: ProjectId(1), pipeline: PipelineId(2), job: JobId(3) };

    fn text(logs: &LogFiles) -> String {
        std::fs::read_to_string(logs.path(PLACE)).unwrap()
    }

    #[test]
    fn pieces_follow_one_another() {
        let folder = tempfile::tempdir().unwrap();
        let logs = LogFiles::new(folder.path());
        let append = |start, piece: &str| logs.append(PLACE.job, start, piece.as_bytes()).unwrap();
        assert_eq!(append(0, "a"), None);
        logs.open(PLACE, Mask::default()).unwrap();

        assert_eq!(append(0, "one "), Some(AppendResult::Kept(4)));
        assert_eq!(append(0, "one "), Some(AppendResult::Kept(4)), "sent twice");
        assert_eq!(append(2, "xx"), Some(AppendResult::Kept(4)));
        assert_eq!(append(9, "x"), Some(AppendResult::Elsewhere(4)));
        assert_eq!(append(1, "x"), Some(AppendResult::Elsewhere(4)));
        assert_eq!(append(4, "two"), Some(AppendResult::Kept(7)));
        assert_eq!(logs.complete(PLACE).unwrap(), 7);
        assert_eq!(text(&logs), "one two");
        assert_eq!(append(7, "late"), None);
    }

    #[test]
    fn no_secret_is_ever_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let logs = LogFiles::new(folder.path());
        let mask = || Mask::new(&["hunter22".to_owned()]).unwrap();
        logs.open(PLACE, mask()).unwrap();

        logs.append(PLACE.job, 0, b"it is hunt").unwrap();
        assert_eq!(logs.length(PLACE.job), Some(10));
        assert!(!text(&logs).contains("hunt"));
        logs.append(PLACE.job, 10, b"er22!").unwrap();
        assert_eq!(logs.complete(PLACE).unwrap(), 15);
        assert_eq!(text(&logs), "it is xxxxxxxx!");
    }

    #[test]
    fn a_log_that_is_written_as_a_whole_takes_the_place_of_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let logs = LogFiles::new(folder.path());
        for whole in ["half of it, and m", "all of it, and more", "all"] {
            let length = logs.keep(PLACE, whole.as_bytes()).unwrap();
            assert_eq!((text(&logs).as_str(), logs.shown(PLACE)), (whole, length));
        }
        logs.sync_folders(&[PLACE]).unwrap();
    }

    /// A log that is read while another one is where it goes to.
    struct LateLog<'l> {
        logs: &'l LogFiles,
        /// What was there at each read.
        seen: Vec<String>,
        rest: &'static [u8],
    }

    impl Read for LateLog<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.seen.push(text(self.logs));
            self.rest.read(into)
        }
    }

    #[test]
    fn a_log_that_is_written_twice_at_once_is_empty_at_no_time() {
        let folder = tempfile::tempdir().unwrap();
        let logs = LogFiles::new(folder.path());
        logs.keep(PLACE, &b"all of it"[..]).unwrap();
        let mut late = LateLog { logs: &logs, seen: Vec::new(), rest: b"all of it" };

        assert_eq!(logs.keep(PLACE, &mut late).unwrap(), 9);

        assert!(!late.seen.is_empty());
        assert!(late.seen.iter().all(|seen| seen == "all of it"), "{:?}", late.seen);
    }

    #[test]
    fn a_log_goes_on_when_the_disk_has_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let logs = LogFiles::new(folder.path());
        let path = logs.path(PLACE);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        logs.open(PLACE, Mask::default()).unwrap();

        let failure = logs.append(PLACE.job, 0, b"one").unwrap_err();
        assert!(failure.is_of_machine(), "{failure}");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(logs.append(PLACE.job, 0, b"one").unwrap(), None, "it is open no more");
        logs.open(PLACE, Mask::default()).unwrap();
        assert_eq!(logs.append(PLACE.job, 0, b"one").unwrap(), Some(AppendResult::Kept(3)));
        logs.complete(PLACE).unwrap();
        assert_eq!(text(&logs), "one");
    }

    #[test]
    fn a_log_goes_on_where_its_file_ends() {
        let folder = tempfile::tempdir().unwrap();
        let mask = || Mask::new(&["hunter22".to_owned()]).unwrap();
        let logs = LogFiles::new(folder.path());
        logs.open(PLACE, mask()).unwrap();
        logs.append(PLACE.job, 0, b"it is hunt").unwrap();
        drop(logs);

        let again = LogFiles::new(folder.path());
        again.open(PLACE, mask()).unwrap();

        assert_eq!(again.append(PLACE.job, 10, b"er22").unwrap(), Some(AppendResult::Elsewhere(6)));
        again.append(PLACE.job, 6, b"hunter22").unwrap();
        again.complete(PLACE).unwrap();
        assert_eq!(text(&again), "it is xxxxxxxx");
        again.remove_pipeline(PLACE.project, PLACE.pipeline).unwrap();
        assert!(!again.path(PLACE).exists());
        again.remove(PLACE).unwrap();
    }
}
