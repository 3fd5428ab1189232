//! Argon2 whose memory goes back to the system after each hash.

use argon2::{
    Algorithm, Argon2, Block, Params, PasswordHasher, Version,
    password_hash::{self, Decimal, Ident, Output, ParamsString, PasswordHash, Salt},
};

pub(super) struct Hasher;

/// So much the allocator takes from the system by itself, and gives back at once; of less it keeps what was needed, for
/// each thread several times. Only what a hash writes to becomes resident.
const ROOM: usize = 40 << 20;

impl PasswordHasher for Hasher {
    type Params = Params;

    fn hash_password_customized<'a>(
        &self,
        password: &[u8],
        algorithm: Option<Ident<'a>>,
        version: Option<Decimal>,
        params: Params,
        salt: impl Into<Salt<'a>>,
    ) -> password_hash::Result<PasswordHash<'a>> {
        let algorithm = algorithm.map(Algorithm::try_from).transpose()?.unwrap_or_default();
        let version = version.map(Version::try_from).transpose()?.unwrap_or_default();
        let (salt, mut bytes) = (salt.into(), [0; Salt::MAX_LENGTH]);
        let salted = salt.decode_b64(&mut bytes)?;
        let argon = Argon2::new(algorithm, version, params.clone());
        let blocks = params.block_count();
        let mut memory = Vec::with_capacity(blocks.max(ROOM / Block::SIZE));
        memory.resize(blocks, Block::new());
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let output = Output::init_with(length, |out| {
            Ok(argon.hash_password_into_with_memory(password, salted, out, &mut memory)?)
        })?;
        Ok(PasswordHash {
            algorithm: algorithm.ident(),
            version: Some(version.into()),
            params: ParamsString::try_from(&params)?,
            salt: Some(salt),
            hash: Some(output),
        })
    }
}
