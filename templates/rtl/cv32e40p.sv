// The core CV32E40P with its FPU, and memory of one cycle: an access that it asks for is granted at
// once, and what is read comes in the next cycle. The testbench gives the words. The core has no
// protection of memory, and its own counter stands still after a reset.
module board (
  input  logic        clock,
  input  logic        running,
  input  logic [31:0] boot,
  output logic        code_asked,
  output logic [31:0] code_address,
  input  logic [31:0] code_word,
  output logic        data_asked,
  output logic        data_written,
  output logic [3:0]  data_bytes,
  output logic [31:0] data_address,
  output logic [31:0] data_out,
  input  logic [31:0] data_in,
  // of the instruction that has left the decoder for good
  output logic        retired,
  output logic        trapped,
  output logic [31:0] instruction,
  output logic [31:0] retired_at,
  output logic [63:0] mcycle
);
  logic code_given;
  logic data_given;

  always_ff @(posedge clock or negedge running) begin
    if (!running) begin
      code_given <= 1'b0;
      data_given <= 1'b0;
      retired <= 1'b0;
      trapped <= 1'b0;
      instruction <= '0;
      retired_at <= '0;
      mcycle <= '0;
    end else begin
      code_given <= code_asked;
      data_given <= data_asked;
      retired <= core.core_i.id_stage_i.minstret | core.core_i.csr_save_cause;
      trapped <= core.core_i.csr_save_cause;
      // its two lowest bits tell its size
      instruction <= core.core_i.id_stage_i.is_compressed_i ? 32'd0 : 32'd3;
      retired_at <= core.core_i.pc_id;
      mcycle <= mcycle + 64'd1;
    end
  end

  cv32e40p_top #(
    .FPU(1),
    .FPU_ADDMUL_LAT(0),
    .FPU_OTHERS_LAT(0)
  ) core (
    .clk_i(clock),
    .rst_ni(running),
    .pulp_clock_en_i(1'b1),
    .scan_cg_en_i(1'b0),
    .boot_addr_i(boot + 32'h80),
    .mtvec_addr_i(32'd0),
    .dm_halt_addr_i(32'd0),
    .hart_id_i(32'd0),
    .dm_exception_addr_i(32'd0),
    .instr_req_o(code_asked),
    .instr_gnt_i(code_asked),
    .instr_rvalid_i(code_given),
    .instr_addr_o(code_address),
    .instr_rdata_i(code_word),
    .data_req_o(data_asked),
    .data_gnt_i(data_asked),
    .data_rvalid_i(data_given),
    .data_we_o(data_written),
    .data_be_o(data_bytes),
    .data_addr_o(data_address),
    .data_wdata_o(data_out),
    .data_rdata_i(data_in),
    .irq_i(32'd0),
    .debug_req_i(1'b0),
    .fetch_enable_i(1'b1)
  );
endmodule
