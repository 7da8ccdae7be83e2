//! Reference values: what a boot, an image and a container runtime may measure.
