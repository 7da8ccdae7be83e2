/** Rules about volumes and what they are attached to. */
module hot/volume

open hot/vocabulary
open values

/** All places that attach a volume. */
fun attachments: set univ {
  OS_Nova_Server_block_device_mapping + OS_Nova_Server_block_device_mapping_v2 + OS_Cinder_VolumeAttachment
}

/** The volume that a place attaches. */
fun volume[a: univ]: set univ {
  (a & OS_Nova_Server_block_device_mapping).prop_volume_id
  + (a & OS_Nova_Server_block_device_mapping_v2).prop_volume_id
  + (a & OS_Cinder_VolumeAttachment).prop_volume_id
}

/** Volumes that may be attached several times. */
pred shared[v: set univ] {
  some t: (v & OS_Cinder_Volume).prop_volume_type |
    t not in OS_Cinder_VolumeType
    or entry[(t & OS_Cinder_VolumeType).prop_metadata, "multiattach", "<is> True"]
}

/** HOT107 volume-without-size error: a volume has no size
 * message: volume `{v}` has no `size`
 * at: v "needs a size"
 * help: add `size`, in gigabytes
 * why: Heat refuses a volume without a size unless it is created from a backup, volume or snapshot.
 * source: HOT specification, OS::Cinder::Volume
 */
assert VolumeHasASize {
  all v: OS_Cinder_Volume |
    some v.prop_size + v.prop_backup_id + v.prop_source_volid + v.prop_snapshot_id
}

/** HOT223 volume-attached-twice error: a volume is attached twice
 * message: volume `{v}` is attached twice
 * at: b.prop_volume_id "attached again here"
 * also: b
 * also: a "first attached here"
 * alias: HOT237
 * help: attach it once, or give it a volume type with `multiattach: "<is> True"`
 * why: Cinder refuses the second attachment: the volume is in use.
 * source: RR-9317, section 7.1.4
 */
assert AttachedOnce {
  all disj a, b: attachments | not (some v: volume[a] & volume[b] | not shared[v])
}

/** HOT238 conflicting-volume-sources error: a volume has several sources
 * message: volume `{v}` has several of `image`, `source_volid` and `snapshot_id`
 * at: v.prop_snapshot_id
 * also: v.prop_source_volid
 * also: v.prop_image
 * help: keep one of them
 * why: Cinder refuses the volume.
 * source: RR-9317, section 7.1.4
 */
assert VolumeHasOneSource {
  all v: OS_Cinder_Volume |
    (no v.prop_image or no v.prop_source_volid)
    and (no v.prop_image or no v.prop_snapshot_id)
    and (no v.prop_source_volid or no v.prop_snapshot_id)
}
