//! From a request to what a handler may know of it: credential, parameters, scope, permission, in this order.

mod admission;
mod body;
mod call;
mod content;
mod credential;
mod credential_sources;
mod cursor;
mod declaration;
mod locate;
pub mod params;
mod raw;
mod shared_params;
mod slow_client_guard;
mod sort;
mod values;

pub(crate) use admission::ensure_open_across;
pub use body::pairs as raw_pairs;
pub(crate) use body::{pass_over, text as part_text, unreadable};
pub use call::{Call, Caller, count, ensure_known, identify};
pub(crate) use call::{CallContext, enter};
pub use content::{Content, FilePath, PathBytes};
pub use credential::{ensure_may_sign_in, touch, touch_user};
pub use cursor::{CursorPage, cursor_of, no_keyset, read_cursor, unreadable as unreadable_cursor};
pub(crate) use declaration::Declaration;
pub use locate::Locate;
pub use params::{Param, ParamErrors, Params};
pub use raw::{Raw, RawMap};
pub use slow_client_guard::SlowClientGuard;
pub(crate) use slow_client_guard::StalledBody;
pub use sort::Sort;
pub use values::{Change, Csv, NonBlank, NonEmpty, NonNegative, OrNull, Positive, RawText};
