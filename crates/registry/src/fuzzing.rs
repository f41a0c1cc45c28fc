//! Entry points for hostile input. For development only.

/// Reads bytes as everything that a registry of containers may serve.
pub fn artefact(bytes: &[u8]) {
    crate::oci::fuzz(bytes);
}
