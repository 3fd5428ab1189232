//! Names that no branch may have, although git would take them.

/// The refusal of such a name.
pub(crate) const LOOKS_LIKE_ID: &str =
    "You cannot create a branch with a 40-character hexadecimal branch name.";

/// Whether a branch could be mistaken for a commit: 40 hexadecimal digits, alone or before `/` or `-/`.
pub(crate) fn looks_like_id(name: &str) -> bool {
    let Some((start, rest)) = name.split_at_checked(40) else { return false };
    start.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (rest.is_empty() || rest.starts_with('/') || rest.starts_with("-/"))
}
