//! Entry points for hostile input. For development only.

/// Reads bytes as everything that a repository of a fleet may hold: its `HEAD`, packed references, a list of paths and addresses, and a
/// remembered line.
pub fn fuzz_fleet(bytes: &[u8]) {
    crate::fleet::fuzz_fleet(bytes);
}

/// Reads bytes as everything that a container registry may serve.
pub fn fuzz_artifact(bytes: &[u8]) {
    crate::oci::fuzz_artifact(bytes);
}
