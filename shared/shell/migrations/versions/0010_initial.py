"""Create every table, and the view `exhibit_list`.

Text of documents has the deployment's character set, all other text is utf8mb4. Names are compared by the Unicode
Collation Algorithm 5.2.0, the first version in which characters outside of the Basic Multilingual Plane are not all
equal; control numbers and Bates numbers are compared by bytes. Both collations exist in MySQL and in MariaDB.
"""

from __future__ import annotations

from alembic import context, op

# 0001 to 0006 were steps before the first release: a database at one of them is refused, not taken for migrated.
revision = "0010"
down_revision = None

APPLICATION_TEXT = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

APPLICATION_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS cases (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the case',
      name VARCHAR(255) NOT NULL COMMENT 'The name of the case, unique within the tenant',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the case was created (UTC)',
      UNIQUE KEY uq_cases_tenant_name (tenant_id, name)
    ) COMMENT='A legal matter of one tenant; its name is unique within the tenant.'
    """,
    """
    CREATE TABLE IF NOT EXISTS imports (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY
        COMMENT 'The number of the import, as the API and the folders of its report files use it',
      upload_key BINARY(32) NOT NULL
        COMMENT 'SHA-256 of bucket, key and version of the upload, or of upload_id until the file arrives',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the import',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      bucket VARCHAR(63) NOT NULL COMMENT 'The S3 bucket of the load file',
      object_key VARCHAR(1024) NOT NULL COMMENT 'The S3 key of the load file',
      version_id VARCHAR(1024)
        COMMENT 'The S3 version of the load file; NULL until it arrives, or in a bucket without versions',
      etag VARCHAR(255) COMMENT 'The ETag of the load file in S3',
      size BIGINT NOT NULL COMMENT 'The size of the load file in bytes',
      file_name VARCHAR(1024) NOT NULL COMMENT 'The name of the load file',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who is recorded with the links that the import creates',
      upload_id VARCHAR(64)
        COMMENT 'The upload id of an import announced with the API; NULL for a file put into the bucket directly',
      options MEDIUMTEXT
        COMMENT 'The options of an announced import, as JSON; NULL for a file put into the bucket directly',
      status VARCHAR(32) NOT NULL
        COMMENT 'awaiting_upload, splitting, checking, checked, running or an end, such as completed or failed',
      failure_code VARCHAR(64) COMMENT 'Why the whole file failed, as a code; NULL otherwise',
      failure_message VARCHAR(1024) COMMENT 'What is wrong with the file and what to do about it; NULL otherwise',
      sha256 BINARY(32) COMMENT 'SHA-256 of the whole load file',
      encoding VARCHAR(16) COMMENT 'The detected or requested encoding of the file',
      delimiter VARCHAR(8) COMMENT 'The character between cells',
      qualifier VARCHAR(8) COMMENT 'The character around cells; NULL for a file without one',
      date_orders VARCHAR(255) COMMENT 'Whether dates are read day or month first, as JSON',
      layout MEDIUMTEXT COMMENT 'Columns, fields and format as the chunks read the file, as JSON',
      rows_seen BIGINT NOT NULL DEFAULT 0 COMMENT 'Records in the file, counted when it was split',
      imported BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows that became a new exhibit',
      unchanged BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows that the case already held with the same values',
      updated BIGINT NOT NULL DEFAULT 0
        COMMENT 'Rows that changed an exhibit; always 0, because imports do not overlay',
      rejected BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows that were not imported, see import_rejections',
      warnings BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows of import_warnings',
      custodians_created BIGINT NOT NULL DEFAULT 0 COMMENT 'Custodians that the import created',
      tags_created BIGINT NOT NULL DEFAULT 0 COMMENT 'Tags that the import created',
      chunk_count INT NOT NULL DEFAULT 0 COMMENT 'Chunks of the file',
      chunks_left INT NOT NULL DEFAULT 0
        COMMENT 'Chunks that are neither done nor failed; at 0, complete_import completes the import',
      generation INT NOT NULL DEFAULT 1
        COMMENT '1, and one more for each retry; messages of earlier generations are ignored',
      reports_generation INT NOT NULL DEFAULT 0 COMMENT 'The generation whose report files were written; 0 for none',
      started_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When the import was created or last retried (UTC)',
      finished_at DATETIME(6) COMMENT 'When it completed, failed or was cancelled (UTC); NULL before',
      UNIQUE KEY uq_imports_upload_key (upload_key),
      UNIQUE KEY uq_imports_upload_id (tenant_id, upload_id),
      KEY ix_imports_case (case_id),
      KEY ix_imports_tenant (tenant_id)
    ) COMMENT='One upload of one load file: its detected format, status and counts.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_chunks (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL COMMENT 'The number of the chunk within the file, from 1',
      byte_start BIGINT NOT NULL COMMENT 'The first byte of the chunk in the file, from 0',
      byte_end BIGINT NOT NULL COMMENT 'The byte after the last one of the chunk',
      first_line BIGINT NOT NULL COMMENT 'The line of the chunk''s first record, from 1',
      last_line BIGINT NOT NULL COMMENT 'The last line of the chunk''s last record',
      row_count INT NOT NULL COMMENT 'Records in the chunk',
      sha256 BINARY(32) NOT NULL COMMENT 'SHA-256 of the chunk''s bytes',
      status VARCHAR(16) NOT NULL DEFAULT 'pending'
        COMMENT 'pending, done (its rows are committed) or failed (in every attempt)',
      redrives SMALLINT NOT NULL DEFAULT 0
        COMMENT '1 if the chunk came back from the dead-letter queue and was sent once more',
      imported INT NOT NULL DEFAULT 0 COMMENT 'Rows of the chunk that became a new exhibit',
      unchanged INT NOT NULL DEFAULT 0 COMMENT 'Rows that the case already held with the same values',
      updated INT NOT NULL DEFAULT 0 COMMENT 'Rows that changed an exhibit; always 0, because imports do not overlay',
      rejected INT NOT NULL DEFAULT 0 COMMENT 'Rows of the chunk that were not imported',
      warnings INT NOT NULL DEFAULT 0 COMMENT 'Warnings about values of the chunk',
      finished_at DATETIME(6) COMMENT 'When the chunk was done or failed (UTC); NULL while it is pending',
      PRIMARY KEY (import_id, chunk_no)
    ) COMMENT='A contiguous run of records of one file; the unit of import, committed whole or not at all.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_duplicates (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The line of the repeated record',
      first_line BIGINT NOT NULL COMMENT 'The line of the first record with the same id',
      PRIMARY KEY (import_id, line_no)
    ) COMMENT='A record whose id already occurs in an earlier record of the same file.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_rejections (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The line of the record in the file, from 1',
      seq INT NOT NULL COMMENT 'Distinguishes several reasons for one line',
      chunk_no INT NOT NULL COMMENT 'The chunk of the record, import_chunks.chunk_no',
      row_count INT NOT NULL DEFAULT 1
        COMMENT 'Records that the rejection covers; more than 1 only for a chunk that failed (CHUNK_FAILED)',
      column_name VARCHAR(255)
        COMMENT 'The column with the fault, as the header names it; NULL if the fault is in no single column',
      code VARCHAR(64) NOT NULL COMMENT 'The reason, such as MISSING_ID; docs/load-files.md lists all',
      message VARCHAR(1024) NOT NULL COMMENT 'What is wrong and what to do about it',
      control_number VARCHAR(255) COMMENT 'The id of the record, where it could be read',
      byte_start BIGINT NOT NULL COMMENT 'The first byte of the record in the file, from 0',
      byte_len BIGINT NOT NULL COMMENT 'The length of the record in bytes',
      PRIMARY KEY (import_id, line_no, seq)
    ) COMMENT='A reason why a record was not imported, and where it is in the uploaded file.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_warnings (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The line of the record in the file, from 1; 0 for the whole file',
      seq INT NOT NULL COMMENT 'Distinguishes several warnings about one line',
      chunk_no INT NOT NULL COMMENT 'The chunk of the record; 0 for the whole file',
      column_name VARCHAR(255)
        COMMENT 'The column of the value, as the header names it; NULL if the warning is about no single column',
      code VARCHAR(64) NOT NULL COMMENT 'The kind of change, such as VALUE_TRUNCATED; docs/load-files.md lists all',
      message VARCHAR(1024) NOT NULL COMMENT 'What was changed and why',
      control_number VARCHAR(255) COMMENT 'The id of the record',
      original BLOB COMMENT 'The original value as bytes, up to 1 KB; NULL if it is longer or there is none',
      original_bytes BIGINT COMMENT 'The length of the original value in bytes',
      stored_bytes BIGINT COMMENT 'The length of the stored value in bytes',
      byte_start BIGINT COMMENT 'The first byte of the record in the file, where the original is not stored here',
      byte_len BIGINT COMMENT 'The length of that record in bytes',
      PRIMARY KEY (import_id, line_no, seq)
    ) COMMENT='A change to an imported value, with the original as bytes if it is at most 1 KB.'
    """,
    """
    CREATE TABLE IF NOT EXISTS outbox_events (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number, and the eventId of the published event',
      aggregate_type VARCHAR(64) NOT NULL
        COMMENT 'The kind of thing that the event is about, such as import or production',
      aggregate_id VARCHAR(64) NOT NULL COMMENT 'The id of that thing',
      event_type VARCHAR(64) NOT NULL COMMENT 'The type of the event, such as import.completed',
      payload TEXT NOT NULL COMMENT 'Ids, counts and codes, as JSON; never content of documents',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the event was committed (UTC)',
      published SMALLINT NOT NULL DEFAULT 0
        COMMENT '0 new, 1 published, 2 dead-lettered, 3 leased at least once and not published yet',
      lease_token VARCHAR(32) COMMENT 'The latest lease; NULL before the first and after a failure',
      lease_until DATETIME(6) COMMENT 'When that lease, or the pause after a failure, ends (UTC)',
      attempts INT NOT NULL DEFAULT 0 COMMENT 'How often the event was leased',
      sequence BIGINT COMMENT 'The order within its aggregate, assigned at the first lease',
      failures INT NOT NULL DEFAULT 0
        COMMENT 'How often SNS rejected the event as invalid; after 5 times it is dead-lettered',
      KEY ix_outbox_events_unpublished (published, id),
      KEY ix_outbox_events_aggregate (aggregate_type, aggregate_id, published)
    ) COMMENT='An event, committed with the data that it describes and published later.'
    """,
    """
    CREATE TABLE IF NOT EXISTS idempotency_keys (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that made the request',
      route VARCHAR(128) NOT NULL COMMENT 'Method and path pattern of the request',
      idempotency_key VARBINARY(255) NOT NULL COMMENT 'The Idempotency-Key header, as bytes',
      fingerprint BINARY(32) NOT NULL COMMENT 'A hash of the request; another request under the same key is refused',
      status VARCHAR(16) NOT NULL
        COMMENT 'in_progress, completed or released (the request failed, and the key is free)',
      owner BINARY(16) NOT NULL COMMENT 'The worker that holds the claim',
      attempt INT NOT NULL COMMENT 'How often the key was claimed',
      lease_until DATETIME(6) NOT NULL COMMENT 'When another worker may take over the claim (UTC)',
      status_code SMALLINT COMMENT 'The HTTP status of the response',
      response_headers TEXT COMMENT 'The headers of the response, as JSON',
      response_body MEDIUMTEXT COMMENT 'The body of the response',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When the key was last claimed (UTC); retention counts from it',
      UNIQUE KEY uq_idempotency_keys (tenant_id, route, idempotency_key),
      KEY ix_idempotency_keys_created (created_at)
    ) COMMENT='A request with an idempotency key: its owner''s claim and, once its effect is committed, its response.'
    """,
    """
    CREATE TABLE IF NOT EXISTS semaphores (
      name BINARY(32) NOT NULL PRIMARY KEY COMMENT 'SHA-256 of the semaphore''s name',
      fencing_token BIGINT NOT NULL DEFAULT 0
        COMMENT 'The last fencing token that was issued; each is greater than the one before'
    ) COMMENT='A semaphore, in deployments without Redis.'
    """,
    """
    CREATE TABLE IF NOT EXISTS semaphore_holders (
      name BINARY(32) NOT NULL COMMENT 'The semaphore, semaphores.name',
      token BINARY(16) NOT NULL COMMENT 'The holder of the slot',
      expires_at DATETIME(6) NOT NULL COMMENT 'When the slot expires (UTC)',
      PRIMARY KEY (name, token),
      KEY ix_semaphore_holders_expires (expires_at)
    ) COMMENT='A holder of a semaphore''s slot, by its token, and when the slot expires.'
    """,
    """
    CREATE TABLE IF NOT EXISTS devices (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the device',
      number BIGINT NOT NULL COMMENT 'The tenant''s own number of the device',
      version INT NOT NULL DEFAULT 1 COMMENT 'Incremented by every change of the device''s custody periods',
      UNIQUE KEY uq_devices_number (tenant_id, number)
    ) COMMENT='An evidence device, identified by the tenant''s own number; writers of its periods lock this row.'
    """,
    """
    CREATE TABLE IF NOT EXISTS custody_periods (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      device_id BIGINT NOT NULL COMMENT 'The device, devices.id',
      begin_at DATETIME(6) NOT NULL COMMENT 'The beginning of the period (UTC), included',
      end_at DATETIME(6) NOT NULL
        COMMENT 'The end of the period (UTC), excluded; in the year 9999 while the device is still held',
      custodian_id BIGINT COMMENT 'The custodian who holds the device, custodians.id; NULL if none is named',
      note VARCHAR(1000) COMMENT 'The client''s note',
      version INT NOT NULL DEFAULT 1
        COMMENT 'Incremented by every change; a client''s change of an older version is refused',
      KEY ix_custody_periods_overlap (device_id, end_at, begin_at),
      KEY ix_custody_periods_custodian (custodian_id),
      CONSTRAINT ck_custody_periods_order CHECK (begin_at < end_at),
      CONSTRAINT fk_custody_periods_custodian FOREIGN KEY (custodian_id) REFERENCES custodians (id)
    ) COMMENT='A period in which a custodian held a device; an end in the year 9999 means that it still does.'
    """,
    """
    CREATE TABLE IF NOT EXISTS custody_changes (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      period_id BIGINT NOT NULL COMMENT 'The period, custody_periods.id, which may have been removed since',
      version INT NOT NULL COMMENT 'The version of the period after the change',
      action VARCHAR(16) NOT NULL COMMENT 'added, changed or removed',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who made the change',
      changed_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When the change was made, by the database''s clock (UTC)',
      device_id BIGINT NOT NULL COMMENT 'The device, devices.id',
      begin_at DATETIME(6) NOT NULL COMMENT 'The beginning of the period (UTC) after the change, or before its removal',
      end_at DATETIME(6) NOT NULL COMMENT 'The end of the period (UTC) after the change, or before its removal',
      custodian_id BIGINT COMMENT 'The custodian after the change, or before the removal, custodians.id',
      note VARCHAR(1000) COMMENT 'The note after the change, or before the removal',
      UNIQUE KEY uq_custody_changes_version (period_id, version),
      KEY ix_custody_changes_device (device_id, id),
      KEY ix_custody_changes_custodian (custodian_id)
    ) COMMENT='A period as one change left it, and the user who made the change; rows are inserted and never updated.'
    """,
    """
    CREATE TABLE IF NOT EXISTS bates_sequences (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      prefix VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL
        COMMENT 'The Bates prefix, such as SMITH; compared case-insensitively',
      digits SMALLINT NOT NULL COMMENT 'How many digits the numbers of the prefix have',
      next_number BIGINT NOT NULL DEFAULT 1 COMMENT 'The next number to assign',
      version INT NOT NULL DEFAULT 1 COMMENT '1 until a number was assigned; incremented by every assignment',
      UNIQUE KEY uq_bates_sequences_prefix (case_id, prefix)
    ) COMMENT='A Bates prefix of a case and its next number; prefixes that differ only in letter case are the same.'
    """,
    """
    CREATE TABLE IF NOT EXISTS insert_destinations (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      name VARCHAR(255) NOT NULL COMMENT 'The name of the destination',
      advisory_id BIGINT NOT NULL COMMENT 'A random number from which the name of its lock is built',
      next_position BIGINT NOT NULL DEFAULT 0 COMMENT 'The position of the next document that is appended',
      fencing_token BIGINT NOT NULL DEFAULT 0
        COMMENT 'Incremented by every holder of the lock; only the latest holder gets positions',
      UNIQUE KEY uq_insert_destinations_name (name),
      UNIQUE KEY uq_insert_destinations_advisory (advisory_id)
    )
    COMMENT='A destination that several writers append to, such as a volume: its lock''s id and its next free position.'
    """,
    """
    CREATE TABLE IF NOT EXISTS productions (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY
        COMMENT 'The number of the production, as the API and the folder of its volume use it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the production',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who requested the production',
      volume VARCHAR(64) NOT NULL COMMENT 'The name of the volume, such as VOL001',
      prefix VARCHAR(64) NOT NULL COMMENT 'The Bates prefix',
      digits SMALLINT NOT NULL COMMENT 'How many digits the numbers have',
      start_at BIGINT COMMENT 'The first number that the request asks for; NULL to continue the prefix',
      numbering VARCHAR(16) NOT NULL COMMENT 'document or page: the unit that gets a Bates number',
      selection MEDIUMTEXT NOT NULL COMMENT 'The selected exhibits, as JSON: ids or a query',
      properties MEDIUMTEXT NOT NULL COMMENT 'The columns of the original load file that are handed over, as JSON',
      status VARCHAR(16) NOT NULL COMMENT 'requested, running, confirmed, cancelling, cancelled or needs_attention',
      is_open SMALLINT NOT NULL DEFAULT 1 COMMENT '1 while an execution runs or should run, else 0',
      cancel_requested SMALLINT NOT NULL DEFAULT 0 COMMENT '1 once a client has asked for the cancellation',
      generation INT NOT NULL DEFAULT 1 COMMENT '1, and one more for each retry by a client and each automatic restart',
      resumptions INT NOT NULL DEFAULT 0 COMMENT 'Automatic restarts since the last request by a client',
      execution_arn VARCHAR(1024) COMMENT 'The latest durable execution; NULL before the first',
      failed_step VARCHAR(32) COMMENT 'The step that failed for good; NULL otherwise',
      reason VARCHAR(1000) COMMENT 'Why it failed; NULL otherwise',
      documents INT COMMENT 'Documents of the production; NULL before numbers are reserved',
      sequence_id BIGINT COMMENT 'The Bates sequence, bates_sequences.id; NULL before numbers are reserved',
      first_number BIGINT COMMENT 'The first assigned number, without prefix; NULL before',
      last_number BIGINT COMMENT 'The last assigned number, without prefix; NULL before',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the production was requested (UTC)',
      updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'The last heartbeat (UTC); a check restarts a production without one for 20 minutes',
      version INT NOT NULL DEFAULT 1
        COMMENT 'Incremented by every change; a client''s change of an older version is refused',
      KEY ix_productions_case (tenant_id, case_id, id),
      KEY ix_productions_tenant (tenant_id),
      KEY ix_productions_open (is_open, updated_at)
    ) COMMENT='A set of exhibits that is produced as one volume, with Bates numbers.'
    """,
    """
    CREATE TABLE IF NOT EXISTS production_steps (
      production_id BIGINT NOT NULL COMMENT 'The production, productions.id',
      name VARCHAR(32) NOT NULL COMMENT 'begin, reserve, copy, confirm or notify',
      position SMALLINT NOT NULL COMMENT 'The order of the step, from 0',
      status VARCHAR(16) NOT NULL COMMENT 'pending, completed, failed or compensated',
      reason VARCHAR(1000) COMMENT 'Why the step or its compensation failed; NULL otherwise',
      updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the status last changed (UTC)',
      PRIMARY KEY (production_id, name)
    ) COMMENT='The status of one step of a production''s saga.'
    """,
    """
    CREATE TABLE IF NOT EXISTS production_documents (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      production_id BIGINT NOT NULL COMMENT 'The production, productions.id',
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      destination_id BIGINT NOT NULL COMMENT 'The volume, insert_destinations.id',
      position BIGINT NOT NULL COMMENT 'The position of the document in the volume, from 0',
      sequence_id BIGINT NOT NULL COMMENT 'The Bates sequence, bates_sequences.id',
      first_number BIGINT NOT NULL COMMENT 'The document''s first Bates number, without prefix',
      last_number BIGINT NOT NULL COMMENT 'The document''s last Bates number, without prefix',
      files TEXT NOT NULL COMMENT 'The paths of the exhibit''s files by kind when the numbers were reserved, as JSON',
      status VARCHAR(16) NOT NULL COMMENT 'reserved, produced, or void (never used again)',
      UNIQUE KEY uq_production_documents_position (destination_id, position),
      UNIQUE KEY uq_production_documents_number (sequence_id, first_number),
      UNIQUE KEY uq_production_documents_exhibit (production_id, exhibit_id),
      KEY ix_production_documents_exhibit (exhibit_id)
    ) COMMENT='An exhibit''s Bates numbers in a production and its position in the volume.'
    """,
    """
    CREATE TABLE IF NOT EXISTS outbox_state (
      id SMALLINT NOT NULL PRIMARY KEY COMMENT 'Always 1',
      last_sequence BIGINT NOT NULL COMMENT 'The last sequence that was assigned to an event'
    ) COMMENT='The single row that publishers lock to lease events, with the last assigned sequence.'
    """,
)

DOCUMENT_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS import_name_occurrences (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL COMMENT 'The chunk, import_chunks.chunk_no',
      seq INT NOT NULL COMMENT 'Numbers the occurrences of the chunk',
      kind VARCHAR(16) NOT NULL COMMENT 'custodians or tags',
      name VARCHAR(500) NOT NULL COMMENT 'The name as that line spells it',
      line_no BIGINT NOT NULL COMMENT 'The lowest line of the chunk with that spelling',
      column_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
        COMMENT 'The column of the name, as the header names it',
      PRIMARY KEY (import_id, chunk_no, seq)
    ) COMMENT='A spelling of a custodian''s or tag''s name, and the lowest line of a chunk that has it.'
    """,
    """
    CREATE TABLE IF NOT EXISTS exhibits (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      control_number VARCHAR(255) COLLATE {charset}_bin NOT NULL
        COMMENT 'The id of the document, as in the load file but without spaces around it',
      bates_begin VARCHAR(255) COLLATE {charset}_bin COMMENT 'The first Bates number that the load file states',
      bates_end VARCHAR(255) COLLATE {charset}_bin COMMENT 'The last Bates number that the load file states',
      parent_control_number VARCHAR(255) COLLATE {charset}_bin
        COMMENT 'The control number of the document that this one is attached to; NULL if none',
      title VARCHAR(1024) COMMENT 'The title or subject',
      file_name VARCHAR(1024) COMMENT 'The original file name',
      document_date DATETIME(6)
        COMMENT 'The date and time as written, in UTC if the text has an offset; NULL if it is not a date',
      native_path VARCHAR(1024) COMMENT 'The path of the native file, as in the load file',
      text_path VARCHAR(1024) COMMENT 'The path of the text file, as in the load file',
      document_properties TEXT
        COMMENT 'Other columns of the load file, and the text of dates, custodians and tags, as JSON by column name',
      row_hash BINARY(32) COMMENT 'SHA-256 of the imported values; NULL once a client has changed the exhibit',
      import_id BIGINT NOT NULL COMMENT 'The import that created the exhibit, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The first line of the record in the load file, from 1',
      line_count INT NOT NULL DEFAULT 1 COMMENT 'How many lines the record has',
      version INT NOT NULL DEFAULT 1
        COMMENT 'Incremented by every change; a client''s change of an older version is refused',
      UNIQUE KEY uq_exhibits_control_number (case_id, control_number)
    ) COMMENT='A document of a case, as in its load file; its control number is unique within the case.'
    """,
    """
    CREATE TABLE IF NOT EXISTS custodians (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      name VARCHAR(255) NOT NULL COMMENT 'The name; unique within the case, ignoring case and accents',
      import_id BIGINT COMMENT 'The import that created the row, imports.id; NULL if a request did',
      line_no BIGINT
        COMMENT 'The first line that has the name, spelled as on that line; NULL if a request created the row',
      created_at_gmt DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the row was created (UTC)',
      version INT NOT NULL DEFAULT 1
        COMMENT 'Incremented by every change; a client''s change of an older version is refused',
      UNIQUE KEY uq_custodians_name (case_id, name),
      KEY ix_custodians_import (import_id)
    )
    COMMENT='A person, organization or place that documents were collected from or that holds a device.'
    """,
    """
    CREATE TABLE IF NOT EXISTS tags (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      name VARCHAR(500) NOT NULL
        COMMENT 'The name, a full path for a nested tag; unique within the case, ignoring case and accents',
      import_id BIGINT COMMENT 'The import that created the row, imports.id; NULL if a request did',
      line_no BIGINT
        COMMENT 'The first line that has the name, spelled as on that line; NULL if a request created the row',
      created_at_gmt DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the row was created (UTC)',
      version INT NOT NULL DEFAULT 1
        COMMENT 'Incremented by every change; a client''s change of an older version is refused',
      UNIQUE KEY uq_tags_name (case_id, name),
      KEY ix_tags_import (import_id)
    ) COMMENT='A coding choice of a case; names that differ only in case or accents are one tag.'
    """,
    """
    CREATE TABLE IF NOT EXISTS custodian_exhibits (
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      custodian_id BIGINT NOT NULL COMMENT 'The custodian, custodians.id',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who made the link',
      PRIMARY KEY (exhibit_id, custodian_id),
      KEY ix_custodian_exhibits_custodian (custodian_id),
      CONSTRAINT fk_custodian_exhibits_exhibit FOREIGN KEY (exhibit_id) REFERENCES exhibits (id),
      CONSTRAINT fk_custodian_exhibits_custodian FOREIGN KEY (custodian_id) REFERENCES custodians (id)
    ) COMMENT='A link from an exhibit to one of its custodians; a pair occurs once.'
    """,
    """
    CREATE TABLE IF NOT EXISTS taggings (
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      tag_id BIGINT NOT NULL COMMENT 'The tag, tags.id',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who made the link',
      PRIMARY KEY (exhibit_id, tag_id),
      KEY ix_taggings_tag (tag_id),
      CONSTRAINT fk_taggings_exhibit FOREIGN KEY (exhibit_id) REFERENCES exhibits (id),
      CONSTRAINT fk_taggings_tag FOREIGN KEY (tag_id) REFERENCES tags (id)
    ) COMMENT='A link from an exhibit to one of its tags; a pair occurs once.'
    """,
)


# Names are complete, or the statement fails: a list that the server truncated at group_concat_max_len is shorter than
# its names together, and then the addition overflows. The message of that error, 1690, shows the text below.
NAMES = """(
        SELECT CASE
          WHEN CHAR_LENGTH({joined}) = SUM(CHAR_LENGTH(named.name) + 2) - 2 THEN {joined}
          WHEN COUNT(*) > 0 THEN ~0 + LENGTH(CONCAT('raise group_concat_max_len', COUNT(*)))
        END
        FROM {links} AS link JOIN {names} AS named ON named.id = link.{key}
        WHERE link.exhibit_id = exhibit.id
      )"""
JOINED = "GROUP_CONCAT(named.name ORDER BY named.name, named.id SEPARATOR '; ')"
CUSTODIANS = NAMES.format(joined=JOINED, links="custodian_exhibits", names="custodians", key="custodian_id")
TAGS = NAMES.format(joined=JOINED, links="taggings", names="tags", key="tag_id")

# With the reader's own privileges: a reader needs SELECT on the tables too, and sees no more through the view.
EXHIBIT_LIST = f"""
    CREATE OR REPLACE SQL SECURITY INVOKER VIEW exhibit_list AS
    SELECT matter.tenant_id, exhibit.case_id, matter.name AS case_name, exhibit.id AS exhibit_id,
      exhibit.control_number, exhibit.bates_begin, exhibit.bates_end, exhibit.parent_control_number,
      exhibit.title, exhibit.file_name, exhibit.document_date,
      {CUSTODIANS} AS custodians,
      {TAGS} AS tags,
      exhibit.native_path, exhibit.text_path, exhibit.document_properties,
      exhibit.import_id, source.file_name AS import_file, exhibit.line_no AS import_line
    FROM exhibits AS exhibit
    JOIN cases AS matter ON matter.id = exhibit.case_id
    JOIN imports AS source ON source.id = exhibit.import_id
"""  # noqa: S608

# The first sequence is the clock's milliseconds, so that a database created later never issues an earlier one.
FIRST_SEQUENCE = """
    INSERT INTO outbox_state (id, last_sequence) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000))
    ON DUPLICATE KEY UPDATE last_sequence = last_sequence
"""


def upgrade() -> None:
    """Create the tables and the view; every statement can be repeated after a migration that was interrupted."""
    charset = context.config.attributes["charset"]
    document_text = f"ENGINE=InnoDB DEFAULT CHARSET={charset} COLLATE={charset}_unicode_520_ci"
    for statement in DOCUMENT_TABLES:
        op.execute(statement.format(charset=charset) + document_text)
    for statement in APPLICATION_TABLES:
        op.execute(statement + APPLICATION_TEXT)
    op.execute(EXHIBIT_LIST)
    op.execute(FIRST_SEQUENCE)
