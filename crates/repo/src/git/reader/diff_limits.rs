//! How large a diff may be.

/// The size limits of a diff. Files beyond them are listed without their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiffLimits {
    /// A file larger than this on either side is not compared.
    pub file_bytes: u64,
    /// The text of one file.
    pub patch_bytes: usize,
    /// All files together.
    pub total_bytes: usize,
    pub total_lines: u64,
    pub files: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self {
            file_bytes: 10 << 20,
            patch_bytes: 200 << 10,
            total_bytes: 5 << 20,
            total_lines: 50_000,
            files: 1000,
        }
    }
}

impl DiffLimits {
    pub const NONE: Self = Self {
        file_bytes: u64::MAX,
        patch_bytes: usize::MAX,
        total_bytes: usize::MAX,
        total_lines: u64::MAX,
        files: usize::MAX,
    };

    /// The usual limits with other numbers of files and of lines, and of bytes of one file. All files together may have as many
    /// bytes for each file as usual.
    pub fn bounded(files: usize, total_lines: u64, patch_bytes: usize) -> Self {
        let usual = Self::default();
        let total_bytes = usual.total_bytes.saturating_mul(files) / usual.files;
        Self { patch_bytes, total_bytes, total_lines, files, ..usual }
    }
}
