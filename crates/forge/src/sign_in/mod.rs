//! Signing in by a password, the same for the API, OAuth and git: who guesses too often waits, and only a few passwords are hashed
//! at once.

mod candidate;
mod hashers;
mod login_throttle;
mod passwords;

pub use candidate::Candidate;
pub use hashers::Seat;
pub use login_throttle::SignIns;
pub use passwords::Passwords;
