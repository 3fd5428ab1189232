//! Git LFS: large files that lie beside the repositories, which only point at them.

pub mod archive;
pub mod files;
pub mod locks;
pub mod object;
pub mod smudge;
pub mod store;

pub use files::{IncomingFile, KIND, LfsFiles};
pub use locks::{LfsLock, LfsLocks, LockFilter, is_lock_path};
pub use object::{LfsId, Pointer};
pub use smudge::Smudge;
pub use store::LfsStore;
