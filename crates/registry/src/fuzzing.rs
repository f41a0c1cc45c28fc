//! Entry points for hostile input. For development only.

/// Reads bytes as everything that a repository of a fleet may hold: its `HEAD`, packed references, a list of paths and addresses, and a
/// remembered line.
pub fn fleet(bytes: &[u8]) {
    crate::fleet::fuzz(bytes);
}

/// Reads bytes as everything that a container registry may serve.
pub fn artifact(bytes: &[u8]) {
    crate::oci::fuzz(bytes);
}
