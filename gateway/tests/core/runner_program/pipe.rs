//! A pipe with a name, through which the commands of a job speak to a test.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, mkfifoat};

use super::workshop::patiently;

pub(super) struct Pipe(PathBuf);

/// The end of a pipe at which a test listens.
pub(super) struct PipeReader(BufReader<File>);

impl Pipe {
    pub(super) fn new(folder: &Path) -> Self {
        let path = folder.join("pipe");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a pipe");
        Self(path)
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }

    /// Waits until somebody says something: the first line.
    pub(super) async fn hear(&self) -> (String, PipeReader) {
        let path = self.0.clone();
        patiently(move || {
            let mut heard = BufReader::new(File::open(path).expect("a pipe"));
            let mut line = String::new();
            heard.read_line(&mut line).expect("a line");
            (line.trim_end().to_owned(), PipeReader(heard))
        })
        .await
    }
}

impl PipeReader {
    /// Waits until nobody has the other end any more: what was still said.
    pub(super) async fn rest(mut self) -> String {
        patiently(move || {
            let mut rest = String::new();
            self.0.read_to_string(&mut rest).expect("text");
            rest
        })
        .await
    }
}
