//! Archives of projects and groups: those that are written, and those that become projects and groups.

mod export;
mod export_store;
mod ids;
mod import;
mod import_store;

pub use export::{
    ArchiveExport, ArchiveHome, ExportStatus, ExportStep, NewArchiveExport, RemoveArchives,
    UploadMethod, UploadTarget, WriteArchive,
};
pub use export_store::ArchiveExportStore;
pub use ids::ArchiveIdStore;
pub use import::{Address, ArchiveImport, NewArchiveImport, Overrides, ReadArchive};
pub use import_store::ArchiveImportStore;
