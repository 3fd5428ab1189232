//! Verification status of a signature, in the words of the API.

/// Whether a signature is valid and belongs to the committer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    Unverified,
    Verified,
    /// The key's owner has confirmed the committer's address, but the key does not contain it.
    SameUserDifferentEmail,
    /// The committer's address is not the key owner's.
    OtherUser,
    /// The key contains no confirmed address of its owner.
    UnverifiedKey,
    UnknownKey,
    MultipleSignatures,
    RevokedKey,
}

impl Verification {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Verified => "verified",
            Self::SameUserDifferentEmail => "same_user_different_email",
            Self::OtherUser => "other_user",
            Self::UnverifiedKey => "unverified_key",
            Self::UnknownKey => "unknown_key",
            Self::MultipleSignatures => "multiple_signatures",
            Self::RevokedKey => "revoked_key",
        }
    }
}
